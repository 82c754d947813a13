#include "ur_admittance_controller/admittance_controller.hpp"

#include <lifecycle_msgs/msg/state.hpp>
#include <pluginlib/class_list_macros.hpp>

namespace ur_admittance_controller
{
using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

namespace
{
constexpr auto kPublishing = std::chrono::milliseconds(20);
constexpr double kRestart = 0.02;  // [s] ros2_control restarts a controller within a cycle when its leader changes
constexpr double kStopTime = 2.0;  // [s] runtime/loop.py STOP_TIME_S
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
const char * const kModes[] = {"inactive", "active", "stopping", "fault"};
const char * const kJoints[] = {"shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"};
const char * const kForces[] = {"force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"};
const char * const kTwists[] = {"linear.x", "linear.y", "linear.z", "angular.x", "angular.y", "angular.z"};

// The chain of the parameters is a UR's: its joints are known by their names, whatever stands before and after.
std::string wrong_order(const std::vector<std::string> & joints)
{
  for (std::size_t i = 0; i < 6; i++) {
    for (std::size_t other = 0; other < 6; other++) {
      if (other != i && joints[i].find(kJoints[other]) != std::string::npos) {
        return "joints[" + std::to_string(i) + "] = " + joints[i] + ": must be the " + kJoints[i] + " joint";
      }
    }
  }
  return "";
}
}  // namespace

CallbackReturn AdmittanceController::on_init()
{
  try {
    listener_ = std::make_shared<ParamListener>(get_node());
    params_ = listener_->get_params();
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

InterfaceConfiguration AdmittanceController::command_interface_configuration() const
{
  InterfaceConfiguration wanted{interface_configuration_type::INDIVIDUAL, {}};
  for (const auto & joint : params_.joints) wanted.names.push_back(joint + "/" + params_.command_interface);
  return wanted;
}

InterfaceConfiguration AdmittanceController::state_interface_configuration() const
{
  InterfaceConfiguration wanted{interface_configuration_type::INDIVIDUAL, {}};
  for (const auto & joint : params_.joints) wanted.names.push_back(joint + "/position");
  for (const auto & joint : params_.joints) wanted.names.push_back(joint + "/velocity");
  for (const auto * force : kForces) wanted.names.push_back(params_.ft_sensor + "/" + force);
  if (!params_.speed_scaling.empty()) wanted.names.push_back(params_.speed_scaling);
  return wanted;
}

std::vector<hardware_interface::CommandInterface> AdmittanceController::on_export_reference_interfaces()
{
  reference_interfaces_.assign(12, kNone);
  std::vector<hardware_interface::CommandInterface> exported;
  const std::string name = get_node()->get_name();
  for (std::size_t i = 0; i < 6; i++) exported.emplace_back(name + "/twist", kTwists[i], &reference_interfaces_[i]);
  for (std::size_t i = 0; i < 6; i++) exported.emplace_back(name + "/wrench", kForces[i], &reference_interfaces_[6 + i]);
  return exported;
}

// -- life cycle: no update runs ---------------------------------------------------------------------------------------

CallbackReturn AdmittanceController::on_configure(const rclcpp_lifecycle::State &)
{
  auto node = get_node();
  params_ = listener_->get_params();
  take_options();
  in_use_.reset();
  std::string problem = wrong_order(params_.joints);
  if (problem.empty()) problem = read_parameters(params_.parameters_file);
  if (!problem.empty()) {
    RCLCPP_ERROR(node->get_logger(), "%s", problem.c_str());
    return CallbackReturn::FAILURE;
  }
  in_use_ = std::move(read_);
  given_.take();  // from before a cleanup
  arm_.configure(*in_use_, params_.command_interface == "velocity");
  updated_ = {};
  check_ = node->add_on_set_parameters_callback([this](const std::vector<rclcpp::Parameter> & changes) {
    rcl_interfaces::msg::SetParametersResult result;
    for (const auto & change : changes) {
      if (change.get_name() == "parameters_file") result.reason = read_parameters(change.as_string());
    }
    result.successful = result.reason.empty();
    return result;
  });
  use_ = node->add_post_set_parameters_callback([this](const std::vector<rclcpp::Parameter> & changes) {
    take_options();
    for (const auto & change : changes) {
      if (change.get_name() != "parameters_file" || !read_) continue;
      in_use_ = std::move(read_);
      given_.next() = *in_use_;
      given_.publish();
    }
  });
  state_ = node->create_publisher<diagnostic_msgs::msg::DiagnosticStatus>("~/state", 10);
  wrench_ = node->create_publisher<geometry_msgs::msg::WrenchStamped>("~/wrench", 10);
  comply_ = node->create_service<SetBool>(
    "~/comply", [this](SetBool::Request::SharedPtr request, SetBool::Response::SharedPtr response) {
      answer_comply(*request, *response);
    });
  reset_ = node->create_service<Trigger>(
    "~/reset_fault", [this](Trigger::Request::SharedPtr, Trigger::Response::SharedPtr response) {
      answer_reset(*response);
    });
  timer_ = node->create_wall_timer(kPublishing, [this] {publish();});
  return CallbackReturn::SUCCESS;
}

CallbackReturn AdmittanceController::on_activate(const rclcpp_lifecycle::State &)
{
  // A leader that comes or goes restarts this controller between two cycles: the arm moves on, or brakes, as it would.
  const std::chrono::duration<double> pause = std::chrono::steady_clock::now() - updated_;
  std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), kNone);
  if (pause.count() < kRestart) return CallbackReturn::SUCCESS;
  arm_.begin();
  requests_ = comply_on_activation_ ? unsigned{kComply} : 0u;
  return CallbackReturn::SUCCESS;
}

CallbackReturn AdmittanceController::on_deactivate(const rclcpp_lifecycle::State &)
{
  // The last act: angles stay the last command, which the robot holds; speeds must not go on.
  const double none[6] = {};
  if (params_.command_interface == "velocity") write(none);
  return CallbackReturn::SUCCESS;
}

CallbackReturn AdmittanceController::on_cleanup(const rclcpp_lifecycle::State &)
{
  timer_.reset();
  reset_.reset();
  comply_.reset();
  wrench_.reset();
  state_.reset();
  use_.reset();
  check_.reset();
  return CallbackReturn::SUCCESS;
}

// -- the cycle: does not wait, allocate or log ------------------------------------------------------------------------

return_type AdmittanceController::update_reference_from_subscribers(const rclcpp::Time &, const rclcpp::Duration &)
{
  arm_.let_go();  // called while nobody leads
  return return_type::OK;
}

return_type AdmittanceController::update_and_write_commands(const rclcpp::Time & time, const rclcpp::Duration & period)
{
  updated_ = std::chrono::steady_clock::now();
  if (given_.take()) arm_.replace(given_.taken());
  obey(requests_.exchange(0));
  const double dt = period.seconds();
  auto & sample = arm_.sample;
  const bool joints = read_into(sample.q, 0, 6) && read_into(sample.qd, 6, 6);
  sample.joint_age = joints ? 0.0 : sample.joint_age + dt;
  sample.wrench_age = read_into(sample.wrench, 12, 6) ? 0.0 : sample.wrench_age + dt;
  double scaling = 1.0;
  if (!params_.speed_scaling.empty()) read_into(&scaling, 18, 1);
  if (is_in_chained_mode()) {
    arm_.lead(&reference_interfaces_[0], &reference_interfaces_[6]);
    std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), kNone);  // a leader that is stuck is noticed
  }
  const auto & command = arm_.cycle(time.nanoseconds(), dt, scaling);
  if (arm_.has_command()) write(sample.speed_driven ? command.qd : command.q);
  shown_.next() = command;
  shown_.publish();
  return return_type::OK;
}

// false: not all could be read, those stay as they were.
bool AdmittanceController::read_into(double * values, std::size_t first, std::size_t count) const
{
  bool all = true;
  for (std::size_t i = 0; i < count; i++) {
    const auto value = state_interfaces_[first + i].get_optional();
    if (value) values[i] = *value;
    all = all && value;
  }
  return all;
}

// One that is not taken now is followed by the next: an arm that gets none is seen not to follow.
void AdmittanceController::write(const double * values)
{
  for (std::size_t i = 0; i < 6; i++) static_cast<void>(command_interfaces_[i].set_value(values[i]));
}

void AdmittanceController::obey(unsigned requests)
{
  if (requests & kComply) arm_.comply(accept_load_);
  if (requests & kStop) arm_.stop();
  if (requests & kResetFault) arm_.reset_fault();
}

// -- parameters, services and topics: one callback at a time, while `update` runs ---------------------------------------

void AdmittanceController::take_options()
{
  const auto options = listener_->get_params();
  accept_load_ = options.accept_load;
  comply_on_activation_ = options.comply_on_activation;
}

std::string AdmittanceController::read_parameters(const std::string & file)
{
  read_ = std::make_unique<ur_params>();
  const char * unread = ur_read_params(read_.get(), file.c_str());
  std::string problem = unread ? unread : problem_of(*read_, get_update_rate());
  const bool complies = get_lifecycle_state().id() == lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE &&
                        (shown_.taken().mode == UR_MODE_ACTIVE || shown_.taken().mode == UR_MODE_STOPPING);
  if (problem.empty() && in_use_) problem = problem_of_change(*in_use_, *read_, complies);
  if (problem.empty()) return "";
  read_.reset();
  return "parameters_file " + file + ": " + problem;
}

std::string AdmittanceController::now() const
{
  const auto & c = shown_.taken();
  return std::string(kModes[c.mode]) + ": " + sentence(c.status, c.evidence);
}

// false: no cycle since the last time.
bool AdmittanceController::publish()
{
  if (!shown_.take()) return false;
  const auto & c = shown_.taken();
  if (c.mode != logged_mode_ || c.status != logged_status_) {
    RCLCPP_INFO(get_node()->get_logger(), "%s", now().c_str());
    logged_mode_ = c.mode, logged_status_ = c.status;
  }
  diagnostic_msgs::msg::DiagnosticStatus state;
  state.name = get_node()->get_name();
  state.level = c.mode == UR_MODE_FAULT ? state.ERROR : c.status != UR_STATUS_OK ? state.WARN : state.OK;
  state.message = now();
  state.values.resize(3);
  state.values[0].key = "status";
  state.values[0].value = std::to_string(c.status);
  state.values[1].key = "limits";
  state.values[1].value = std::to_string(c.limits);
  state.values[2].key = "hindrance";
  state.values[2].value = c.hindrance ? sentence(c.hindrance, c.hindrance_evidence) : "";
  state_->publish(state);
  geometry_msgs::msg::WrenchStamped wrench;
  wrench.header.stamp = get_node()->now();
  wrench.header.frame_id = params_.base_frame;
  const double * w = c.wrench_tcp;
  wrench.wrench.force.x = w[0], wrench.wrench.force.y = w[1], wrench.wrench.force.z = w[2];
  wrench.wrench.torque.x = w[3], wrench.wrench.torque.y = w[4], wrench.wrench.torque.z = w[5];
  wrench_->publish(wrench);
  return true;
}

// Messages go on meanwhile. false: the time is over.
bool AdmittanceController::wait(double seconds, const std::function<bool()> & done)
{
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    rclcpp::sleep_for(kPublishing);
    publish();
    if (done()) return true;
  }
  return false;
}

void AdmittanceController::answer_comply(const SetBool::Request & request, SetBool::Response & response)
{
  const auto mode = [this] {return shown_.taken().mode;};
  rclcpp::sleep_for(kPublishing);
  if (!publish()) {
    response.message = "the controller is not active";
    return;
  }
  if (request.data && mode() != UR_MODE_ACTIVE) {
    requests_ |= kComply;
    response.success = wait(kActivationTime + 0.1, [&] {return mode() == UR_MODE_ACTIVE || mode() == UR_MODE_FAULT;}) &&
                       mode() == UR_MODE_ACTIVE;
  } else if (!request.data) {
    requests_ |= kStop;
    response.success = wait(kStopTime, [&] {return mode() == UR_MODE_INACTIVE || mode() == UR_MODE_FAULT;});
  } else {
    response.success = true;
  }
  response.message = now();
}

void AdmittanceController::answer_reset(Trigger::Response & response)
{
  publish();
  const auto & c = shown_.taken();
  if (c.mode != UR_MODE_FAULT) {
    response.message = "there is no fault: " + now();
  } else if (c.hindrance) {
    response.message = sentence(c.hindrance, c.hindrance_evidence);
  } else {
    requests_ |= kResetFault;
    response.success = wait(0.2, [this] {return shown_.taken().mode != UR_MODE_FAULT;});
    response.message = now();
  }
}
}  // namespace ur_admittance_controller

PLUGINLIB_EXPORT_CLASS(
  ur_admittance_controller::AdmittanceController, controller_interface::ChainableControllerInterface)
