// The tick of ur_admittance as a chainable controller of ros2_control. `update` reads interfaces, calls the tick and
// writes interfaces; files, sentences and messages are handled in other threads.

#pragma once

#include <atomic>
#include <chrono>
#include <controller_interface/chainable_controller_interface.hpp>
#include <diagnostic_msgs/msg/diagnostic_status.hpp>
#include <functional>
#include <geometry_msgs/msg/wrench_stamped.hpp>
#include <limits>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <std_srvs/srv/trigger.hpp>
#include <string>
#include <vector>

#include "ur_admittance_controller/admittance_controller_parameters.hpp"
#include "ur_admittance_controller/compliant_arm.hpp"
#include "ur_admittance_controller/latest.hpp"

namespace ur_admittance_controller
{
class AdmittanceController : public controller_interface::ChainableControllerInterface
{
public:
  controller_interface::CallbackReturn on_init() override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_cleanup(const rclcpp_lifecycle::State &) override;
  controller_interface::return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) override;
  controller_interface::return_type update_and_write_commands(
    const rclcpp::Time &, const rclcpp::Duration &) override;

protected:
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override;

private:
  using Trigger = std_srvs::srv::Trigger;
  using SetBool = std_srvs::srv::SetBool;
  enum Request : unsigned { kComply = 1, kStop = 2, kResetFault = 4 };

  // In the thread of `update`
  bool read_into(double * values, std::size_t first, std::size_t count) const;
  void write(const double * values);
  void obey(unsigned requests);

  // In the executor's
  void take_options();
  std::string read_parameters(const std::string & file);  // into read_; why not, or empty
  bool publish();
  bool wait(double seconds, const std::function<bool()> & done);
  std::string now() const;  // mode and status in words
  void answer_comply(const SetBool::Request &, SetBool::Response &);
  void answer_reset(Trigger::Response &);

  std::shared_ptr<ParamListener> listener_;
  Params params_;
  CompliantArm arm_;
  std::chrono::steady_clock::time_point updated_{};

  Latest<ur_params> given_;    // to `update`
  Latest<ur_command> shown_;   // from it
  std::atomic<unsigned> requests_{0};  // to it
  std::atomic<bool> accept_load_{false}, comply_on_activation_{false};

  std::unique_ptr<ur_params> in_use_, read_;
  std::int64_t logged_mode_ = 0, logged_status_ = 0;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr check_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr use_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticStatus>::SharedPtr state_;
  rclcpp::Publisher<geometry_msgs::msg::WrenchStamped>::SharedPtr wrench_;
  rclcpp::Service<SetBool>::SharedPtr comply_;
  rclcpp::Service<Trigger>::SharedPtr reset_;
  rclcpp::TimerBase::SharedPtr timer_;
};
}  // namespace ur_admittance_controller
